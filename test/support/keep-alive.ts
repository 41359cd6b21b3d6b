import { connect, type Socket } from "node:net";
import { type RawResponse, readResponse } from "./raw-http.ts";

/** A connection that sends one request after another, byte for byte, and is reopened if the peer closes it. */
export class KeepAlive {
  private readonly host: string;
  private readonly port: number;
  private socket: Socket | undefined;

  constructor(baseUrl: string) {
    const { hostname, port } = new URL(baseUrl);
    this.host = hostname;
    this.port = Number(port);
  }

  /** Sends a request and resolves with its response. */
  send(bytes: Buffer): Promise<RawResponse> {
    const socket = (this.socket ??= connect(this.port, this.host).setNoDelay());
    return new Promise((resolve, reject) => {
      let received = Buffer.alloc(0);
      const settle = (ended: boolean, error?: Error) => {
        const response = readResponse(received);
        if (response === undefined && !ended) return;
        socket.removeAllListeners();
        socket.on("error", () => {});
        if (ended || response?.headers["connection"] === "close") this.close();
        if (response === undefined)
          reject(error ?? new Error(`no complete reply: ${JSON.stringify(received.toString())}`));
        else resolve(response);
      };
      socket.on("data", (chunk) => {
        received = Buffer.concat([received, chunk]);
        settle(false);
      });
      socket.on("error", (error) => settle(true, error));
      socket.on("close", () => settle(true));
      socket.write(bytes);
    });
  }

  close(): void {
    this.socket?.destroy();
    this.socket = undefined;
  }
}
