import { connect, type Socket } from 'node:net';

/** A response as received. */
export interface RawResponse {
  status: number;
  /** Names in lower case, values trimmed. */
  headers: Map<string, string>;
  text: string;
}

interface RawConnection {
  socket: Socket;
  send(bytes: string | Buffer): void;
  /** Returns all received bytes when the connection is closed. */
  rest(): Promise<string>;
}

/** Opens a TCP connection for arbitrary bytes. */
export function openRaw(origin: string): RawConnection {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  // A reset ends the connection like a close.
  socket.on('error', () => {});
  const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  return {
    socket,
    send: (bytes) => void socket.write(bytes),
    async rest() {
      await ended;
      return Buffer.concat(chunks).toString();
    },
  };
}

/** Sends a request on a new connection and reads the response. The request must contain `Connection: close`. */
export async function exchange(origin: string, request: string | Buffer): Promise<RawResponse> {
  const connection = openRaw(origin);
  connection.send(request);
  return parseResponse(await connection.rest());
}

export function parseResponse(response: string): RawResponse {
  const end = response.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = response.slice(0, end).split('\r\n');
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
    }),
  );
  return { status: Number(statusLine.split(' ')[1]), headers, text: response.slice(end + 4) };
}

/** Whether a socket becomes writable again within half a second. */
export function drained(socket: { once(event: 'drain', listener: () => void): unknown }): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), 500);
    socket.once('drain', () => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}
