info threads
break logits
continue
info threads
backtrace
print $vr8
nexti
stepi
thread apply all info registers pc
thread 1
next
break behind
continue
info threads
thread 1
finish
delete
watch *(int *) &best
continue
info threads
reverse-continue
nexti
nexti
monitor why best[0] depth 1
monitor info groups
monitor info cores
