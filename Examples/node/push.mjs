// Pushes with Node's own http2 client to the simulated APNs, by token and by certificate, and asserts.
// Needs Node 18 or later, no packages, and a running `belfry apns`.
import assert from "node:assert/strict";
import { createPrivateKey, randomUUID, sign } from "node:crypto";
import { connect } from "node:http2";

const apns = process.env.APNS_ADDRESS ?? "127.0.0.1:2197";
const control = process.env.APNS_CONTROL ?? "http://127.0.0.1:2198";

async function ask(method, path, body) {
  const answer = await fetch(control + path, { method, body: body && JSON.stringify(body) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  return answer.headers.get("content-type") === "application/json" ? JSON.parse(text) : text;
}

function providerToken({ keyId, teamId, p8 }) {
  const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const text = part({ alg: "ES256", kid: keyId }) + "." + part({ iss: teamId, iat: Math.floor(Date.now() / 1000) });
  const signature = sign("sha256", Buffer.from(text), { key: createPrivateKey(p8), dsaEncoding: "ieee-p1363" });
  return `${text}.${signature.toString("base64url")}`;
}

function push(session, token, headers, payload) {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ":method": "POST", ":path": `/3/device/${token}`, ...headers });
    let [status, id, body] = [0, "", ""];
    stream.on("response", (answer) => ([status, id] = [answer[":status"], answer["apns-id"]]));
    stream.setEncoding("utf8").on("data", (text) => (body += text));
    stream.on("end", () => resolve({ status, id, reason: body && JSON.parse(body).reason })).on("error", reject);
    stream.end(JSON.stringify(payload));
  });
}

const ca = await ask("GET", "/ca.pem");
const key = await ask("POST", "/keys", { environment: "sandbox" });
const { pem } = await ask("POST", "/certificates", { bundle: "com.example.app" });
const { token, topic } = await ask("POST", "/devices", { device: "node-phone", bundle: "com.example.app" });
const headers = { "apns-topic": topic, "apns-push-type": "alert" };
const ids = [];
for (const [options, authorization] of [
  [{ ca }, { authorization: `bearer ${providerToken(key)}` }],
  [{ ca, cert: pem, key: pem }, {}],
]) {
  const session = connect(`https://${apns}`, options);
  // Many at once: more than the single stream that a connection has until its first token proved good.
  const pushes = Array.from({ length: 20 }, (_, number) => {
    ids.push(randomUUID());
    return push(session, token, { ...headers, ...authorization, "apns-id": ids.at(-1) }, { aps: { alert: `${number}` } });
  });
  const answers = await Promise.all(pushes);
  assert.deepEqual(answers.map((answer) => answer.status), Array(20).fill(200));
  assert.deepEqual(answers.map((answer) => answer.id), ids.slice(-20));
  const unknown = await push(session, "ab".repeat(32), { ...headers, ...authorization }, { aps: { alert: "?" } });
  assert.deepEqual([unknown.status, unknown.reason], [400, "BadDeviceToken"]);
  session.close();
}
await ask("POST", "/assertions", {
  wait: "5s",
  that: [...ids.map((id) => ({ id, token, count: 1 })), { token, payload: { aps: { alert: "19" } }, count: 2 }],
});
console.log("ok");
