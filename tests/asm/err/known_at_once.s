# What layout depends on must be known where it stands.
        .core cp
        .space  later                     #! error 17-22: the value must be known here: 'later' is not defined before
        .align  later                     #! error 17-22: the value must be known here: 'later' is not defined before
        .fill   later, 1, 0               #! error 17-22: the value must be known here: 'later' is not defined before
        .space  data                      #! error 17-21: the value must be known here: 'data' is not defined before
        .space  3f - .                    #! error 17-19: the value must be known here: it is a label that follows
        .space  sizeof(array)             #! error 24-29: the value must be known here: 'array' is not defined before
        .equ    later, 4
        .data
data:   .word   1
array:  .byte   1, 2, 3
3:                                        #! warning 1-2: label '3' is not used
