/** Messages of the PostgreSQL protocol (https://www.postgresql.org/docs/18/protocol-message-formats.html). */
export interface Message {
  /** The first byte as a character; empty for the startup message. */
  type: string;
  /** The whole message. */
  bytes: Buffer;
}

const LENGTH_BYTES = 4;

/** Splits a byte stream into messages. */
export class MessageReader {
  #rest: Buffer = Buffer.alloc(0);
  #expectsStartup: boolean;

  /** The first message of a client has no type. */
  constructor(expectsStartup: boolean) {
    this.#expectsStartup = expectsStartup;
  }

  read(chunk: Buffer): Message[] {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const messages: Message[] = [];
    for (;;) {
      const typeBytes = this.#expectsStartup ? 0 : 1;
      if (this.#rest.length < typeBytes + LENGTH_BYTES) return messages;
      const length = typeBytes + this.#rest.readInt32BE(typeBytes);
      if (this.#rest.length < length) return messages;
      const bytes = this.#rest.subarray(0, length);
      messages.push({ type: bytes.toString('latin1', 0, typeBytes), bytes });
      this.#rest = this.#rest.subarray(length);
      this.#expectsStartup = false;
    }
  }
}

/** Returns the zero-terminated strings at the start of a message body. */
export function stringsOf({ type, bytes }: Message, count: number): string[] {
  return bytes.toString('utf8', type.length + LENGTH_BYTES).split('\0', count);
}

/** Returns the parameters of a startup message: names and values after its length and the protocol version. */
export function startupParameters({ bytes }: Message): Map<string, string> {
  const fields = bytes.toString('utf8', 2 * LENGTH_BYTES).split('\0');
  const parameters = new Map<string, string>();
  for (let index = 0; index + 1 < fields.length; index += 2)
    parameters.set(fields[index] ?? '', fields[index + 1] ?? '');
  return parameters;
}

function messageOf(type: string, body: string): Buffer {
  const message = Buffer.alloc(1 + LENGTH_BYTES + Buffer.byteLength(body));
  message.write(type, 'latin1');
  message.writeInt32BE(message.length - 1, 1);
  message.write(body, 1 + LENGTH_BYTES);
  return message;
}

/** A simple query. */
export function queryMessage(sql: string): Buffer {
  return messageOf('Q', `${sql}\0`);
}

/** The error after which a server closes the connection. */
export function fatalErrorMessage(state: string): Buffer {
  return messageOf('E', `SFATAL\0VFATAL\0C${state}\0Minjected failure\0\0`);
}
