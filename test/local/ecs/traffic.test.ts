import { Agent, type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { direct, TestCluster, until, versionAt } from "./cluster.ts";

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await new TestCluster().start();
});
afterAll(() => cluster.remove());

async function live(name: string, version = "1"): Promise<string> {
  await cluster.create(name, await cluster.register({ VERSION: version }), direct);
  await cluster.untilStatus(name, "SUCCESSFUL");
  return cluster.url(name);
}

interface Answer {
  status: number;
  text: string;
  message: IncomingMessage;
}
function send(url: string, options: object = {}, body?: Buffer): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sending = request(url, options, (message) => {
      const chunks: Buffer[] = [];
      message.on("data", (chunk: Buffer) => chunks.push(chunk));
      message.on("end", () =>
        resolve({ status: message.statusCode ?? 0, text: Buffer.concat(chunks).toString("utf8"), message }),
      );
      message.on("error", reject);
    });
    sending.on("error", reject);
    sending.end(body);
  });
}

/** Sends requests until it is stopped, and returns every answer. */
function knock(ask: () => Promise<Answer>, everyMs: number) {
  const answers: Promise<string>[] = [];
  let on = true;
  const done = (async () => {
    while (on) {
      answers.push(
        ask().then(
          ({ status, text }) => (status === 200 ? text : `${status} ${text}`),
          (error: unknown) => String(error),
        ),
      );
      await delay(everyMs);
    }
  })();
  return async () => {
    on = false;
    await done;
    return Promise.all(answers);
  };
}

test("no request fails while good and bad versions are deployed", async () => {
  const url = await live("steady");
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  const stops = [
    knock(() => send(url), 7),
    knock(() => send(url, { agent }), 5),
    knock(() => send(url, { method: "POST", agent, headers: { "content-length": 3 } }, Buffer.from("abc")), 20),
    knock(() => send(`${url}/slow`), 20),
    knock(() => send(`${url}/stream`), 50),
    // The app closes idle connections earlier than this, so pooled connections are already closed.
    knock(() => send(url, { agent }), 23),
  ];
  await delay(100);
  const versions: Record<string, string>[] = [{ VERSION: "2" }, { MODE: "500" }, { VERSION: "3" }, { MODE: "exit" }];
  for (const env of versions) {
    await cluster.update("steady", await cluster.register(env));
    if (env.VERSION) {
      await cluster.untilStatus("steady", "SUCCESSFUL");
      await until(async () => (await versionAt(url)) === env.VERSION);
    } else await delay(150);
  }
  const answers = (await Promise.all(stops.map((stop) => stop()))).flat();
  agent.destroy();
  const answered = answers.map(
    (text) => /"version":"(\d)"|data: (\d) 8\n\n$/.exec(text)?.slice(1).find(Boolean) ?? text,
  );
  expect([...new Set(answered)].sort()).toEqual(["1", "2", "3"]);
  expect(answers.length).toBeGreaterThan(100);
});

test("requests and answers pass unchanged: method, headers, chunks and trailers", async () => {
  const url = await live("whole");
  const body = Buffer.alloc(3_000_000, "x");
  const headers = {
    "x-own": "1",
    "x-hop": "2",
    connection: "x-hop",
    expect: "100-continue",
    "x-forwarded-for": "9.9.9.9",
  };
  const made = await send(
    `${url}/echo?q=%2F`,
    { method: "PUT", headers: { ...headers, "content-length": body.length } },
    body,
  );
  expect([made.status, made.message.statusMessage, made.message.headers["x-method"]]).toEqual([201, "Made", "PUT"]);
  expect(made.text.length).toBe(body.length);
  expect(made.message.trailers).toEqual({ "x-sum": "3000000", "x-sent": "" });

  const seen = JSON.parse((await send(url, { headers: { ...headers, host: "app.example" } })).text).headers;
  expect(seen).toMatchObject({ host: "app.example", "x-own": "1", "x-forwarded-proto": "http" });
  expect(seen).toMatchObject({ "x-forwarded-port": new URL(url).port, "x-forwarded-for": "9.9.9.9, 127.0.0.1" });
  expect(seen["x-hop"]).toBeUndefined();
  expect((await send(url)).message.headers["set-cookie"]).toEqual(["a=1", "b=2"]);

  const trailing = await new Promise<IncomingMessage>((resolve, reject) => {
    const sending = request(`${url}/echo`, { method: "POST", headers: { trailer: "x-sent" } }, (message) => {
      message.resume().on("end", () => resolve(message));
    }).on("error", reject);
    sending.write("a");
    sending.addTrailers({ "x-sent": "yes" });
    sending.end("b");
  });
  expect(trailing.trailers).toEqual({ "x-sum": "2", "x-sent": "yes" });
  const headOnly = await send(url, { method: "HEAD" });
  expect([headOnly.status, headOnly.text]).toEqual([200, ""]);
});

test("a stream arrives as it is sent, and the app notices when its client disconnects", async () => {
  const url = await live("stream");
  const message = await new Promise<IncomingMessage>((resolve) => request(`${url}/held`, resolve).end());
  const first = await new Promise<Buffer>((resolve) => message.once("data", resolve));
  expect(first.toString()).toBe("first");
  const rest = new Promise<Buffer>((resolve) => message.once("data", resolve));
  // Only now the app writes the rest.
  await send(`${url}/release`);
  expect((await rest).toString()).toBe("rest");

  const leaving = request(`${url}/aborted`, { method: "POST" });
  leaving.on("error", () => {}).write("half");
  await new Promise((resolve) => leaving.once("response", resolve));
  leaving.destroy();
  await until(() => cluster.lines.some((line) => line.message === "client went away"));
});

test("a WebSocket works in both directions; a request to upgrade to another protocol is answered as a plain request", async () => {
  const url = new URL(await live("socket"));
  const socket = connect(Number(url.port), "127.0.0.1");
  let text = "";
  socket.on("data", (chunk: Buffer) => {
    text += chunk;
  });
  socket.write(
    "GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: k\r\n\r\nearly",
  );
  await until(() => text.includes("early"));
  expect(text).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n/);
  expect(text).toContain("X-Version: 1\r\n");
  socket.write("-late");
  await until(() => text.endsWith("early-late"));

  await cluster.update("socket", await cluster.register({ VERSION: "2" }));
  await cluster.untilStatus("socket", "SUCCESSFUL");
  expect(await versionAt(url.href)).toBe("2");
  socket.write("-still");
  await until(() => text.endsWith("-late-still"));
  expect(await cluster.tasks("socket", "RUNNING")).toHaveLength(2);
  socket.end();
  await until(async () => (await cluster.tasks("socket", "RUNNING")).length === 1);

  const offered = await send(
    url.href,
    {
      method: "POST",
      headers: {
        connection: "Upgrade, HTTP2-Settings",
        upgrade: "h2c",
        "http2-settings": "AAMAAABkAAQAAP__",
        "content-length": 2,
      },
    },
    Buffer.from("ok"),
  );
  expect(offered.status).toBe(200);
});

test("a request waits while the app starts, and fails if the app does not answer", async () => {
  const url = await live("cut");
  await expect(send(`${url}/exit`)).resolves.toMatchObject({
    status: 502,
    text: "502 Bad Gateway: the app did not answer\n",
  });
  await until(async () => (await cluster.tasks("cut", "STOPPED")).length > 0);
  expect((await send(url)).status).toBe(200);
});
