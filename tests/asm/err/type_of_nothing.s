# .type and .size speak of symbols that there are.
        .type   nowhere, function         #! error 17-24: undefined symbol 'nowhere'
        .size   nowhere, 4                #! error 17-24: undefined symbol 'nowhere'
