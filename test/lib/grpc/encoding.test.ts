import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { describe, expect, it } from 'vitest';
import type { Codec } from '../../../lib/grpc/contract.ts';
import { encode, encodeShort } from '../../../lib/grpc/encoding.ts';
import { SendMessageRequest } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';

const MIB = 1024 * 1024;
const codec = SendMessageRequest as unknown as Codec<unknown>;

function message(bytesEach: number, text = 'Łódź 🙂'): SendMessageRequest {
  const attachments = [1, 2, 3].map((fill) => ({
    source: { $case: 'data' as const, value: Buffer.alloc(bytesEach, fill) },
  }));
  return {
    ...SendMessageRequest.decode(new Uint8Array()),
    sessionId: 'ses_1',
    contentJson: JSON.stringify([{ type: 'text', text }]),
    attachments: { attachments },
  };
}

describe('encode', () => {
  it.each([0, 1, 127, 128, 20_000, MIB, 3 * MIB + 1])(
    'encodes three attachments of %d bytes',
    (bytesEach) => {
      const value = message(bytesEach);
      const expected = SendMessageRequest.encode(value, new BinaryWriter()).finish();
      expect(Buffer.compare(encode(codec, value), expected)).toBe(0);
    },
  );

  it.each(['a', 'ł', '€', '🙂', '\ud800'])('encodes a long text of %j', (character) => {
    const value = message(10, character.repeat(MIB));
    const expected = SendMessageRequest.encode(value, new BinaryWriter()).finish();
    expect(Buffer.compare(encode(codec, value), expected)).toBe(0);
  });

  it('encodes fields of every type beside long bytes', () => {
    const everyType: Codec<unknown> = {
      encode(_, writer = new BinaryWriter()) {
        return writer
          .fork()
          .bytes(new Uint8Array(3 * MIB))
          .uint32(300)
          .int32(-1)
          .bool(true)
          .float(1.5)
          .double(2.5)
          .fixed32(1)
          .sfixed32(-1)
          .sint32(-70_000)
          .sfixed64(-5n)
          .fixed64(5n)
          .int64(-5n)
          .uint64(1n << 40n)
          .sint64(-9n)
          .string('text')
          .join();
      },
      decode: () => undefined,
    };
    expect(Buffer.compare(encode(everyType, {}), everyType.encode({}).finish())).toBe(0);
  });

  it('allocates exactly the length of a long message', () => {
    const bytes = encode(codec, message(MIB));
    expect(bytes.buffer.byteLength).toBe(bytes.length);
  });

  it('encodes correctly after a message that failed', () => {
    expect(() => encode(codec, { ...message(10), attachments: 1 })).toThrow();
    expect(SendMessageRequest.decode(encode(codec, message(10))).sessionId).toBe('ses_1');
  });
});

describe('encodeShort', () => {
  it('returns undefined for a message beyond the limit', () => {
    expect(encodeShort(codec, message(1_000), 2_000)).toBeUndefined();
    expect(encodeShort(codec, message(MIB), 2_000)).toBeUndefined();
    expect(encodeShort(codec, message(100), 2_000)).toEqual(encode(codec, message(100)));
  });
});
