import { crc32 } from 'node:zlib';

/**
 * One message of the event stream encoding of AWS
 * (https://docs.aws.amazon.com/transcribe/latest/dg/event-stream.html).
 */
export function eventStreamFrame(headers: Record<string, string>, payload: unknown): Buffer {
  const encodedHeaders = Buffer.concat(Object.entries(headers).map(([name, value]) => header(name, value)));
  const body = Buffer.from(JSON.stringify(payload));
  const prelude = Buffer.alloc(8);
  prelude.writeUInt32BE(16 + encodedHeaders.length + body.length, 0);
  prelude.writeUInt32BE(encodedHeaders.length, 4);
  const start = Buffer.concat([prelude, checksum(prelude), encodedHeaders, body]);
  return Buffer.concat([start, checksum(start)]);
}

const STRING = 7;

function header(name: string, value: string): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(Buffer.byteLength(value));
  return Buffer.concat([
    Buffer.from([Buffer.byteLength(name)]),
    Buffer.from(name),
    Buffer.from([STRING]),
    length,
    Buffer.from(value),
  ]);
}

function checksum(bytes: Buffer): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(bytes));
  return sum;
}
