"""Pushes with kalyke-apns to the simulated APNs, by token and by certificate, through its CONNECT proxy.

Needs `pip install kalyke-apns` and a running `belfry apns`. kalyke's host is fixed and every message gets a connection of
its own: the proxy brings Apple's name to the simulator, `SSL_CERT_FILE` makes its authority trusted.
"""

import asyncio
import json
import os
import pathlib
import tempfile
import urllib.request
import warnings

PROXY = os.environ.get("APNS_PROXY", "http://127.0.0.1:2199")
CONTROL = os.environ.get("APNS_CONTROL", "http://127.0.0.1:2198")


def control(method, path, body=None):
    request = urllib.request.Request(CONTROL + path, method=method, data=body and json.dumps(body).encode())
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request) as answer:
        return answer.read().decode()


async def main(folder):
    from kalyke import ApnsClient, ApnsConfig, Payload, VoIPApnsConfig, exceptions
    from kalyke.clients.voip_certificate import VoIPCertificateClient

    key = json.loads(control("POST", "/keys", {"environment": "sandbox"}))
    (folder / "key.p8").write_text(key["p8"])
    client = ApnsClient(
        use_sandbox=True, team_id=key["teamId"], auth_key_id=key["keyId"], auth_key_filepath=folder / "key.p8"
    )
    device = json.loads(control("POST", "/devices", {"device": "kalyke-phone", "bundle": "com.example.app"}))
    apns_id = await client.send_message(
        device_token=device["token"],
        payload=Payload(alert="Hello", badge=1),
        apns_config=ApnsConfig(topic=device["topic"], collapse_id="greeting"),
    )
    try:
        await client.send_message("ab" * 32, Payload(alert="Hello"), ApnsConfig(topic=device["topic"]))
        raise SystemExit("a token that nobody has was taken")
    except exceptions.BadDeviceToken:
        pass

    certificate = json.loads(control("POST", "/certificates", {"bundle": "com.example.app"}))
    (folder / "voip.pem").write_text(certificate["pem"])
    phone = json.loads(
        control("POST", "/devices", {"device": "kalyke-phone", "bundle": "com.example.app", "kind": "voip"})
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        voip = VoIPCertificateClient(use_sandbox=True, auth_key_filepath=folder / "voip.pem")
    call = await voip.send_message(
        device_token=phone["token"],
        payload={"caller": "Lin"},
        apns_config=VoIPApnsConfig(topic=phone["topic"], expiration=0),
    )

    control(
        "POST",
        "/assertions",
        {
            "wait": "5s",
            "that": [
                {
                    "id": apns_id,
                    "payload": {"aps": {"alert": "Hello", "badge": 1}},
                    "headers": {"apns-collapse-id": "greeting", "apns-push-type": "alert"},
                },
                {"id": call, "token": phone["token"], "payload": {"caller": "Lin"}, "match": "exact"},
            ],
        },
    )
    print("ok")


with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    (folder / "ca.pem").write_text(control("GET", "/ca.pem"))
    os.environ["SSL_CERT_FILE"] = str(folder / "ca.pem")
    os.environ["HTTPS_PROXY"] = PROXY
    asyncio.run(main(folder))
