import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFileRegistry, type DescMessage, fromBinary, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { must } from './tool.ts';

/** Returns the JSON document with the descriptors of all contracts, which server reflection sends (lib/grpc/reflection.ts). */
export async function renderDescriptors(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'descriptors-'));
  try {
    const path = join(folder, 'set.binpb');
    await must(['buf', 'build', '--as-file-descriptor-set', '--exclude-source-info', '--output', path]);
    return render(await readFile(path));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A file comes after the files that it imports. */
function render(bytes: Uint8Array): string {
  const set = fromBinary(FileDescriptorSetSchema, bytes);
  const files = [...createFileRegistry(set).files].map((file) => ({
    name: file.proto.name,
    imports: file.proto.dependency,
    symbols: [
      ...file.services.flatMap(({ typeName, methods }) => [
        typeName,
        ...methods.map((method) => `${typeName}.${method.name}`),
      ]),
      ...file.messages.flatMap(symbolsOf),
      ...file.enums.map(({ typeName }) => typeName),
    ],
    descriptor: Buffer.from(toBinary(FileDescriptorProtoSchema, file.proto)).toString('base64'),
  }));
  return `${JSON.stringify(files, null, 2)}\n`;
}

function symbolsOf({ typeName, nestedMessages, nestedEnums }: DescMessage): string[] {
  return [typeName, ...nestedMessages.flatMap(symbolsOf), ...nestedEnums.map((one) => one.typeName)];
}
