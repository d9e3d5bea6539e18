import { connect, createServer, type Server } from "node:net";
import * as z from "zod";
import { log } from "../../lambdas/http/log.ts";
import type { AwsServer } from "../aws/http-server.ts";
import { type EngineApi, EngineRefused } from "./engine-api.ts";

/** A network without containers: its gateway address is an address of this machine that containers can reach. */
interface Network {
  name: string;
  subnet: string;
  address: string;
}

/** The address of the ECS agent, which AWS SDKs accept; all Slipway services of an engine share the network. */
const agent: Network = { name: "slipway-task-credentials", subnet: "169.254.170.0/24", address: "169.254.170.2" };
/** Used if another program has the agent's network. AWS SDKs refuse credentials from this address; Slipway's SDK accepts them. */
const other: Network = { name: "slipway-gateway", subnet: "10.213.255.224/27", address: "10.213.255.225" };
const standardPort = 80;

export interface HostAccess {
  /** STS and the credentials of tasks, for containers: `http://169.254.170.2`, with a port if another program has port 80. */
  stsEndpoint: string;
  /** Lets containers reach the API, which listens on 127.0.0.1; returns its host and port for them. */
  openApi(port: number): Promise<string>;
  /** Creates the network again if it was removed, for example by `docker network prune`. */
  restore(): Promise<void>;
  close(): Promise<void>;
}

async function ensureNetwork(api: EngineApi, { name, subnet, address }: Network): Promise<void> {
  if (await api.perform("GET", `/networks/${name}`)) return;
  const body = { Name: name, Driver: "bridge", IPAM: { Config: [{ Subnet: subnet, Gateway: address }] } };
  try {
    await api.call("POST", "/networks/create", z.unknown(), { body });
  } catch (error) {
    // Another service may have created it in the meantime.
    if (!(error instanceof EngineRefused) || !(await api.perform("GET", `/networks/${name}`))) throw error;
  }
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host, exclusive: true }, resolve);
  });
}

/** Forwards connections to a port of 127.0.0.1. */
async function forward(address: string, port: number): Promise<Server> {
  const server = createServer((client) => {
    const service = connect(port, "127.0.0.1");
    client.pipe(service).pipe(client);
    for (const [one, another] of [
      [client, service],
      [service, client],
    ] as const)
      one.on("error", () => another.destroy()).on("close", () => another.destroy());
  });
  // The API's own port, so that messages name the same one; another port if it is taken at this address.
  await listen(server, port, address).catch(() => listen(server, 0, address));
  return server;
}

/**
 * Opens the parts of the service that containers may reach, at one address: STS with the credentials of tasks, and the API.
 * Everything else listens on 127.0.0.1, which no container reaches. Rejects if the engine gives this machine no such address.
 */
export async function openHostAccess(
  api: EngineApi,
  startSts: (port: number, address: string) => Promise<AwsServer>,
): Promise<HostAccess> {
  let network = agent;
  const start = async (): Promise<AwsServer> => {
    await ensureNetwork(api, network);
    // Port 80 is not available without root's rights, or if another service uses it.
    return startSts(standardPort, network.address).catch(() => startSts(0, network.address));
  };
  const sts = await start().catch((error: unknown) => {
    log("info", "The address for task credentials is not available", { error: String(error), address: agent.address });
    network = other;
    return start();
  });
  let gateway: Server | undefined;
  return {
    stsEndpoint: sts.endpoint,
    async openApi(port) {
      gateway = await forward(network.address, port);
      const at = gateway.address();
      return `${network.address}:${typeof at === "object" ? at?.port : port}`;
    },
    restore: () => ensureNetwork(api, network),
    async close() {
      gateway?.close();
      await sts.close();
    },
  };
}
