# The names of GNU as that begin with a digit, in lines that the fast path reads.
        .data
        .2byte  nowhere                   #! error 17-24: undefined symbol 'nowhere'
        .4byte  nowhere                   #! error 17-24: undefined symbol 'nowhere'
first:  .8byte  1, nowhere                #! error 20-27: undefined symbol 'nowhere'
