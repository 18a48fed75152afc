import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBase64 } from '../../edge/input/base64.ts';
import { takeInlineData } from '../../edge/input/inline-data.ts';

const KIB = 1024;
const long = (seed: number, bytes = 60 * KIB) => Buffer.alloc(bytes, seed).toString('base64');
const take = (value: unknown) => {
  const { json, inlineData } = takeInlineData(Buffer.from(JSON.stringify(value)));
  return { value: JSON.parse(json.toString()), inlineData };
};

describe('decodeBase64', () => {
  const decode = (text: string) => decodeBase64(Buffer.from(text));

  it('decodes what Buffer encodes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        expect(decode(Buffer.from(bytes).toString('base64'))).toEqual(Buffer.from(bytes));
      }),
    );
  });

  it('refuses every text that is not canonical', () => {
    const character = fc.constantFrom(...'AQgw+/=-_ \nŁé');
    fc.assert(
      fc.property(fc.string({ unit: character, maxLength: 12 }), (text) => {
        const lenient = Buffer.from(text, 'base64');
        const isCanonical = lenient.toString('base64') === text;
        expect(decode(text)).toEqual(isCanonical ? lenient : undefined);
      }),
    );
  });
});

describe('takeInlineData', () => {
  it.each(['content', 'message'])('takes the data of the parts in %s', (member) => {
    const parts = [
      { type: 'text', text: 'Look' },
      { type: 'image', data: long(1) },
      { type: 'file', data: long(2), name: 'data' },
    ];
    const { value, inlineData } = take({ title: '"{[', [member]: parts });
    expect(value[member].map(({ data }: { data?: string }) => data)).toEqual([undefined, '', '']);
    expect([...inlineData]).toEqual([
      [1, Buffer.alloc(60 * KIB, 1)],
      [2, Buffer.alloc(60 * KIB, 2)],
    ]);
  });

  it('takes the data of the parts in an object with content', () => {
    const { value, inlineData } = take({ message: { content: [{ data: long(3) }] } });
    expect(value).toEqual({ message: { content: [{ data: '' }] } });
    expect(inlineData.get(0)).toEqual(Buffer.alloc(60 * KIB, 3));
  });

  it('marks invalid Base64', () => {
    const { inlineData } = take({ content: [{ data: `${long(1)}!!!!` }] });
    expect([...inlineData]).toEqual([[0, undefined]]);
  });

  it('leaves all other long texts where they are', () => {
    const body = {
      data: long(1),
      content: [{ text: long(1), nested: { data: long(2) }, list: [{ data: long(3) }] }],
      metadata: { data: long(4) },
      other: { content: [{ data: long(5) }] },
      messages: [{ data: long(6) }],
    };
    expect(take(body)).toEqual({ value: body, inlineData: new Map() });
  });

  it('leaves malformed bodies to the parser', () => {
    const body = JSON.stringify({ content: [{ data: long(1) }] });
    fc.assert(
      fc.property(fc.nat(200), fc.constantFrom('', '"', '[', '}', '\\', ','), (index, insertion) => {
        const malformed = Buffer.from(body.slice(0, index) + insertion + body.slice(index + 1));
        const parses = (bytes: Buffer) => {
          try {
            JSON.parse(bytes.toString());
            return true;
          } catch {
            return false;
          }
        };
        const isJson = parses(malformed);
        expect(parses(takeInlineData(malformed).json)).toBe(isJson);
      }),
    );
  });
});
