# Tabs, wide lines, control characters, statements beside each other, long data.
	.core	cp
f:	nop;	nop	# tab	and tab
	la	a0, text	# µ and 漢字 wide
	li	a7, 93 # bell  escape [31m form feed  end
	ecall
/* a comment
   over lines */ ret
	.balign 16

	.data
	.byte 1
	.balign 8
text:	.asciz "twenty-four characters. And more than a row, more than four of them."
	.fill 33, 1, 0xab
	.word text, far
	.bss
	.space 5
far:	.space 100
	.equ	N, 5
	.global f
# xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx