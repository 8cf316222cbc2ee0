"""The registers in which cp's code keeps the place of the iteration that it loads."""

INDEX = {"M": "s2", "N": "s3", "K": "s4"}  # the loop counters
START = {"M": "t3", "N": "t4", "K": "t5"}  # where a tile begins in its part
