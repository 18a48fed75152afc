import { literal } from './quoting.ts';

export const pythonSender = (
  url: string,
) => `# python3 send.py '{"event": "hello"}'   (Python 3.8 or newer, standard library)
import base64
import hashlib
import hmac
import os
import sys
import time
import urllib.request

URL = ${literal(url)}
SECRET = os.environ["WEBHOOK_SECRET"]


def send(body: bytes) -> str:
    timestamp = str(int(time.time()))
    digest = hashlib.sha256(body).hexdigest()
    mac = hmac.new(SECRET.encode(), f"{timestamp}.{digest}".encode(), hashlib.sha256)
    request = urllib.request.Request(
        URL,
        data=body,
        method="POST",
        headers={
            "Content-Type": "application/json",
            "X-WEBHOOK-TIMESTAMP": timestamp,
            "X-WEBHOOK-SIGNATURE": base64.b64encode(mac.digest()).decode(),
        },
    )
    with urllib.request.urlopen(request) as response:
        return response.read().decode()


if __name__ == "__main__":
    body = os.fsencode(sys.argv[1]) if len(sys.argv) > 1 else b'{"event": "hello"}'
    print(send(body))
`;
