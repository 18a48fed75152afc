import { connect, type Socket } from 'node:net';

/** An answer as it came over the wire. */
export interface RawAnswer {
  status: number;
  /** Names in lower case. */
  headers: Map<string, string>;
  text: string;
}

export interface RawConnection {
  socket: Socket;
  send(bytes: string | Buffer): void;
  /** Everything that came until the other side ended or cut the connection. */
  rest(): Promise<string>;
}

/** A connection on which anything can be said. */
export function openRaw(origin: string): RawConnection {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  // A cut is an end like any other here.
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

/** Says something on a connection of its own and reads the one answer. The request should ask to close it. */
export async function exchange(origin: string, request: string | Buffer): Promise<RawAnswer> {
  const connection = openRaw(origin);
  connection.send(request);
  return parseAnswer(await connection.rest());
}

export function parseAnswer(answer: string): RawAnswer {
  const end = answer.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = answer.slice(0, end).split('\r\n');
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
    }),
  );
  return { status: Number(statusLine.split(' ')[1]), headers, text: answer.slice(end + 4) };
}
