import { connect } from 'node:net';

/** A frame of an event stream. A frame without `seq` is a control frame. */
export interface Frame {
  seq: number | undefined;
  type: string;
  /** The frame with its framing bytes. */
  text: string;
}

export interface EventSocket {
  /** Received bytes, including HTTP framing. */
  bytes(): number;
  close(): void;
}

interface Listener {
  /** `at`: the time at which the last byte of the frame was read, by Date.now(). */
  frame(frame: Frame, at: number): void;
  /** The stream has ended unexpectedly. */
  lost(error: Error): void;
}

const OK = 'HTTP/1.1 200 ';
const END = '\n\n';
/** At most the response head and a chunk header precede the frame. */
const BEGIN = /(?:^|\n)(?:id: (\d+)\n)?event: ([\w.]+)\n/;

/** Reads an event stream on its own connection with little CPU, because hundreds of them share a process. */
export function openEvents(port: number, path: string, listener: Listener): EventSocket {
  let text = '';
  let closed = false;
  let isOpen = false;
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });

  function fail(error: Error): void {
    if (!closed) listener.lost(error);
    closed = true;
    socket.destroy();
  }

  function read(chunk: string): void {
    const at = Date.now();
    text += chunk;
    if (!isOpen && text.length >= OK.length) {
      isOpen = text.startsWith(OK);
      if (!isOpen) fail(new Error(`a stream was refused: ${text.split('\r\n', 1)[0]}`));
    }
    let begin = 0;
    for (let end = text.indexOf(END); end >= 0 && !closed; end = text.indexOf(END, begin)) {
      const piece = text.slice(begin, end + 1);
      begin = end + END.length;
      const [, seq, type] = BEGIN.exec(piece) ?? [];
      if (type) listener.frame({ seq: seq === undefined ? undefined : Number(seq), type, text: piece }, at);
    }
    text = text.slice(begin);
  }

  socket.setEncoding('latin1');
  socket.once('connect', () => socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`));
  socket.on('data', read);
  socket.once('error', fail);
  socket.once('close', () => fail(new Error('an event stream has ended')));
  return {
    bytes: () => socket.bytesRead,
    close() {
      closed = true;
      socket.destroy();
    },
  };
}

export const eventsPath = (session: string) => `/api/v1/sessions/${session}/events/stream`;
