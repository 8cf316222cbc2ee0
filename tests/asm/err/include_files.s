# Files that cannot be read.
        .core cp
        .include "include/none.inc"       #! error 18-36: there is no file 'include/none.inc' below the source's folder or a -I folder
        .include                          #! error 9-17: .include takes other operands | write .include "FILE"
        .include include                  #! error 9-25: .include takes other operands | write .include "FILE"
        .include "include/none.inc", 5    #! error 9-39: .include takes other operands | write .include "FILE"
        .include "../../../README.md"     #! error 18-38: '../../../README.md' leads out of the source's folder and the -I folders
        .include "/etc/passwd"            #! error 18-31: '/etc/passwd' is absolute; files are named from the source's folder on
        .include "include"                #! error 18-27: 'include' is a folder
        .include "include/latin1.inc"     #! error include/latin1.inc:1:6-7: byte 5 is not UTF-8 text
        .include ""                       #! error 18-20: the name of a file is empty or holds a zero byte
        .include "\xff"                   #! error 18-24: the name of a file is UTF-8 text
