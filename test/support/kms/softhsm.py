"""A KMS v2 plugin of Kubernetes over a PKCS#11 token: softhsm.py <stubs> <socket> <libraries> <token> <PIN> <key label>.

Wraps with AES-GCM in the token. The key never leaves it. The key id is the label of the newest AES key.
"""
import os
import sys

stubs, socket, libraries, token, pin, label = sys.argv[1:]
sys.path.insert(0, stubs)

from concurrent import futures  # noqa: E402

import grpc  # noqa: E402
import PyKCS11  # noqa: E402
from PyKCS11 import LowLevel as p11  # noqa: E402

from kubernetes.kms.v2 import api_pb2, api_pb2_grpc  # noqa: E402

NONCE_BYTES = 12
module = PyKCS11.PyKCS11Lib()
module.load(next(path for path in libraries.split(":") if os.path.exists(path)))
slot = next(s for s in module.getSlotList(tokenPresent=True) if module.getTokenInfo(s).label.strip() == token)
session = module.openSession(slot, p11.CKF_SERIAL_SESSION | p11.CKF_RW_SESSION)
session.login(pin)


def find(key_id):
    found = session.findObjects([(p11.CKA_CLASS, p11.CKO_SECRET_KEY), (p11.CKA_LABEL, key_id)])
    return found[0] if found else None


if find(label) is None:
    session.generateKey(
        [
            (p11.CKA_CLASS, p11.CKO_SECRET_KEY),
            (p11.CKA_KEY_TYPE, p11.CKK_AES),
            (p11.CKA_VALUE_LEN, 32),
            (p11.CKA_LABEL, label),
            (p11.CKA_TOKEN, True),
            (p11.CKA_PRIVATE, True),
            (p11.CKA_SENSITIVE, True),
            (p11.CKA_EXTRACTABLE, False),
            (p11.CKA_ENCRYPT, True),
            (p11.CKA_DECRYPT, True),
        ],
        mecha=PyKCS11.Mechanism(p11.CKM_AES_KEY_GEN),
    )


class Plugin(api_pb2_grpc.KeyManagementServiceServicer):
    def Status(self, request, context):
        return api_pb2.StatusResponse(version="v2", healthz="ok", key_id=label)

    def Encrypt(self, request, context):
        nonce = bytes(session.generateRandom(NONCE_BYTES))
        mechanism = PyKCS11.AES_GCM_Mechanism(nonce, label.encode(), 128)
        sealed = bytes(session.encrypt(find(label), request.plaintext, mechanism))
        return api_pb2.EncryptResponse(ciphertext=nonce + sealed, key_id=label)

    def Decrypt(self, request, context):
        key = find(request.key_id)
        if key is None:
            context.abort(grpc.StatusCode.NOT_FOUND, "the token has no such key")
        nonce, sealed = request.ciphertext[:NONCE_BYTES], request.ciphertext[NONCE_BYTES:]
        mechanism = PyKCS11.AES_GCM_Mechanism(nonce, request.key_id.encode(), 128)
        try:
            return api_pb2.DecryptResponse(plaintext=bytes(session.decrypt(key, sealed, mechanism)))
        except PyKCS11.PyKCS11Error as error:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))


# One worker, because a PKCS#11 session runs one operation at a time.
server = grpc.server(futures.ThreadPoolExecutor(max_workers=1))
api_pb2_grpc.add_KeyManagementServiceServicer_to_server(Plugin(), server)
server.add_insecure_port(f"unix:{socket}")
server.start()
print("serving", flush=True)
sys.stdin.read()  # Until the parent ends.
