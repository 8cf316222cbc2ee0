break sum
continue
backtrace
info locals
finish
next
print p
print/x table
call add(40, 2)
watch counter
reverse-continue
reverse-continue
delete
reverse-finish
reverse-step
break add if x == 4
continue
info breakpoints
up
info locals
tbreak main
reverse-continue
info registers pc sp
stepi
x/2i $pc
reverse-stepi
monitor why mem[counter] depth 1
set var table[3] = 100
print table
delete
until
tbreak 34
continue
next
next
reverse-next
