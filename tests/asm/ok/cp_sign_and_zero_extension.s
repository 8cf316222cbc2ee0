# Bytes and halves to words, by shifts where there is no instruction.
        .core   cp
        sext.b  a0, a1
        sext.h  a2, a3
        zext.b  a4, a5
        zext.h  a6, a7
#! bytes .text.cp 13958501 13558541 13960601 13560641
#! bytes .text.cp 13f7f70f 13980801 13580801
