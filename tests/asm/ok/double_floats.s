# Double precision.
        .double 0.0, 1.0, -2.5, 0.1, 1.7976931348623157e308, 5e-324
#! bytes .data 00000000 00000000 00000000 0000f03f
#! bytes .data 00000000 000004c0 9a999999 9999b93f
#! bytes .data ffffffff ffffef7f 01000000 00000000
