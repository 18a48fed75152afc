import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';

/** The fields of a message by number. Fields that a schema omits are skipped. */
export interface MessageSchema {
  [number: number]: [name: string, type: FieldType, ...repeated: 'repeated'[]];
}

type FieldType = MessageSchema | 'string' | 'hex' | 'int' | 'fixed64' | 'double' | 'bool';

export type Message = Record<string, unknown>;

/** Decodes a message into the form that the JSON encoding of OTLP has. */
export function decodeMessage(bytes: Uint8Array, schema: MessageSchema): Message {
  const reader = new BinaryReader(bytes);
  const message: Message = {};
  for (const [name, , repeated] of Object.values(schema)) if (repeated) message[name] = [];
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    const field = schema[number];
    if (!field) {
      reader.skip(wireType, number);
      continue;
    }
    const [name, type, repeated] = field;
    const values = decodeField(reader, wireType, type);
    if (repeated) message[name] = [...(message[name] as unknown[]), ...values];
    else message[name] = values[0];
  }
  return message;
}

/** A repeated number is packed: its values share one field. */
function decodeField(reader: BinaryReader, wireType: WireType, type: FieldType): unknown[] {
  const isPacked = wireType === WireType.LengthDelimited && (type === 'fixed64' || type === 'double');
  if (!isPacked) return [decodeValue(reader, type)];
  const end = reader.uint32() + reader.pos;
  const values: unknown[] = [];
  while (reader.pos < end) values.push(decodeValue(reader, type));
  return values;
}

function decodeValue(reader: BinaryReader, type: FieldType): unknown {
  switch (type) {
    case 'string':
      return reader.string();
    case 'hex':
      return Buffer.from(reader.bytes()).toString('hex');
    case 'int':
      return Number(reader.int64());
    case 'fixed64':
      return Number(reader.fixed64());
    case 'double':
      return reader.double();
    case 'bool':
      return reader.bool();
  }
  return decodeMessage(reader.bytes(), type);
}
