from .host import host_machine as host_machine
from .machine import Machine as Machine
from .named import machine_named as machine_named
from .named import register_machine as register_machine
