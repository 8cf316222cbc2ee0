break vc_main
continue
info threads
next
print $vr2.b
print $vr3.w
break 24
continue
continue
print $vr0.b
info registers vr3
delete
watch sums[0]
continue
reverse-continue
delete
tbreak 45
continue
next
monitor print vc.vr3.i32
reverse-stepi
info threads
