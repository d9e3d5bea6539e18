import os
import signal
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT = int(os.environ.get("PORT", "8080"))
VERSION = os.environ.get("VERSION", "unset")


class Hello(BaseHTTPRequestHandler):
    def do_GET(self):
        body = f"Hello from Python, VERSION {VERSION}\n".encode()
        self.send_response(200)
        self.send_header("content-type", "text/plain; charset=utf-8")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


server = ThreadingHTTPServer(("0.0.0.0", PORT), Hello)
# shutdown() waits for the loop to end, so it must not run in the loop's own thread.
signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
print(f"VERSION {VERSION} listens on {PORT}", flush=True)
server.serve_forever()
