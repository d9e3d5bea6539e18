"""Loaded into the Python processes of a task through PYTHONPATH: see port-map.cjs."""
import os
import sys


def map_port():
    source, _, target = os.environ.get("SLIPWAY_PORT_MAP", "").partition(":")
    if not (source.isdigit() and target.isdigit()):
        return
    import socket

    source, target, bind = int(source), int(target), socket.socket.bind

    def bind_mapped(self, address):
        if isinstance(address, tuple) and len(address) > 1 and address[1] == source and self.type == socket.SOCK_STREAM:
            address = (address[0], target) + address[2:]
        return bind(self, address)

    socket.socket.bind = bind_mapped


def run_shadowed():
    """Runs the app's own sitecustomize module, which this file hides."""
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    here = os.path.dirname(os.path.abspath(__file__))
    spec = PathFinder.find_spec("sitecustomize", [path for path in sys.path if os.path.abspath(path or ".") != here])
    if spec and spec.loader:
        module = module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


map_port()
run_shadowed()
