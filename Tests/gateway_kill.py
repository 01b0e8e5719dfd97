"""Kills `belfry serve` again and again while an app server sends messages and apps take them, and compares what each app
got with what was accepted: nothing lost, nothing twice, in order.

usage: gateway_kill.py BELFRY KILLS
"""

import asyncio
import base64
import json
import subprocess
import sys
import tempfile
import urllib.request

import websockets

BELFRY, KILLS = sys.argv[1], int(sys.argv[2])
APPS = 5


def serve(data):
    words = [BELFRY, "serve", "--listen", "127.0.0.1:0", "--gateway", "127.0.0.1:0", "--data", data]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return process, json.loads(process.stdout.readline())


def call(url, body, credentials=None):
    request = urllib.request.Request(url, data=json.dumps(body).encode(), headers={"Content-Type": "application/json"})
    if credentials:
        request.add_header("Authorization", "Basic " + base64.b64encode(credentials.encode()).decode())
    return json.loads(urllib.request.urlopen(request, timeout=5).read())


async def main(data):
    made = [BELFRY, "app", "create", "--bundle", "com.example.app", "--data", data, "--json"]
    app = json.loads(subprocess.run(made, capture_output=True, text=True, check=True).stdout)
    process, places = serve(data)
    accepted, got, state = [], [[] for _ in range(APPS)], {"ends": False}

    def register(number):
        token = f"{number:02x}" * 32
        body = {"appKey": app["appKey"], "token": token, "environment": "production"}
        return call(places["api"] + "/device/v1/registrations", body)

    async def phone(number, device):
        hello = {"type": "hello", "version": 1, "app": app["appKey"], "device": device["registrationId"]}
        hello |= {"secret": device["deviceSecret"], "cursor": None}
        while True:
            try:
                async with websockets.connect(places["gateway"]) as gateway:
                    await gateway.send(json.dumps(hello))
                    async for text in gateway:
                        frame = json.loads(text)
                        if frame["type"] != "message":
                            continue
                        got[number].append(int(frame["content"]))
                        hello["cursor"] = {"seq": frame["seq"], "id": frame["id"]}
                        await gateway.send(json.dumps({"type": "ack", "seq": frame["seq"]}))
            except (OSError, websockets.exceptions.WebSocketException):
                pass
            await asyncio.sleep(0.05)

    async def server():
        number = 0
        while not state["ends"]:
            number += 1
            body = {"platform": "all", "audience": "all", "message": {"msg_content": str(number)}}
            try:
                credentials = f"{app['appKey']}:{app['masterSecret']}"
                await asyncio.to_thread(call, places["api"] + "/v3/push", body, credentials)
                accepted.append(number)
            except (OSError, ValueError):  # killed: it may have been accepted or not
                await asyncio.sleep(0.05)

    phones = [asyncio.create_task(phone(number, register(number))) for number in range(APPS)]
    sender = asyncio.create_task(server())
    for _ in range(KILLS):
        await asyncio.sleep(0.8)
        process.kill()
        process.wait()
        process, again = serve(data)
        places.update(again)
    state["ends"] = True
    await sender
    for _ in range(100):
        if all(set(accepted) <= set(each) for each in got):
            break
        await asyncio.sleep(0.1)
    for task in phones:
        task.cancel()
    process.terminate()
    process.wait()
    failed = len(accepted) < KILLS
    for number, each in enumerate(got):
        lost, twice = set(accepted) - set(each), len(each) - len(set(each))
        failed |= bool(lost) or twice > 0 or each != sorted(each)
        print(f"app {number}: {len(each)} messages, {len(lost)} lost, {twice} twice, in order: {each == sorted(each)}")
    print(f"{len(accepted)} accepted")
    return 1 if failed else 0


with tempfile.TemporaryDirectory() as folder:
    sys.exit(asyncio.run(main(folder)))
