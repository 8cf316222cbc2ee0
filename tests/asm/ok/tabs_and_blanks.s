# Blanks and tabs stand where they like.
	.byte	1,2 ,	3
 .byte 4
.byte 5
#! bytes .data 01 02030405
