# Runs of bytes.
        .space  3
        .space  2, 0xff
        .zero   1
        .skip   1, -1
        .fill   2
        .fill   2, 2, 0x1234
        .fill   1, 8, -1
        .fill   3, 0, 5
        .space  0
#! bytes .data 000000 ffff 00 ff 0000 34123412 ffffffff00000000
