import { refuseField } from '../../lib/errors.ts';
import { MAX_PATH_BYTES } from '../../lib/paths.ts';
import type { Change, Content, WriteContentsRequest } from '../../proto/gen/ahs/files/v1/files.ts';
import type { Inflow } from './inflow.ts';
import { type Part, Parts } from './multipart.ts';
import { malformed } from './part.ts';
import { checkDirectoryPath, checkFilePath } from './path.ts';
import { pieces } from './pieces.ts';
import type { Located } from './places.ts';

/** What is uploaded, for the service that keeps it, and where it is to be put as soon as that is known. */
export interface Upload {
  messages: AsyncIterable<WriteContentsRequest>;
  /** The path of each content, and how many bytes it had, in their order. */
  targets: { path: string; size: number }[];
}

/** The most files of one request: what is known of each is kept until the last one has come. */
const MAX_FILES = 100_000;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A body that is one file. `size` is what was announced, where something was. */
export function rawUpload(where: Located, inflow: Inflow, path: string, size: number | undefined): Upload {
  const target = { path, size: 0 };
  async function* messages(): AsyncGenerator<WriteContentsRequest> {
    yield { kind: { $case: 'place', value: where } };
    yield { kind: { $case: 'begin', value: { size } } };
    for await (const bytes of pieces(inflow)) {
      target.size += bytes.length;
      yield { kind: { $case: 'bytes', value: bytes } };
    }
  }
  return { messages: messages(), targets: [target] };
}

/** A form: `path`, the directory, and then any number of `files`, each of which goes under its name below it. */
export function formUpload(where: Located, inflow: Inflow, boundary: string): Upload {
  const targets: Upload['targets'] = [];
  async function* messages(): AsyncGenerator<WriteContentsRequest> {
    yield { kind: { $case: 'place', value: where } };
    const taken = new Set<string>();
    let directory: string | undefined;
    for await (const part of new Parts(inflow, boundary)) {
      if (directory === undefined) {
        directory = await readDirectory(part);
        continue;
      }
      const path = targetOf(part, directory, taken);
      const target = { path, size: 0 };
      targets.push(target);
      yield { kind: { $case: 'begin', value: { size: undefined } } };
      for await (const bytes of pieces(part.content)) {
        target.size += bytes.length;
        yield { kind: { $case: 'bytes', value: bytes } };
      }
    }
    if (directory === undefined) throw refuseField('/path', 'is required, as the first part');
    if (targets.length === 0) throw refuseField('/files', 'must be at least one');
  }
  return { messages: messages(), targets };
}

/** The changes that put each file at its path, once its content is kept. */
export function putsOf({ targets }: Upload, contents: readonly Content[]): Change[] {
  return targets.map(({ path, size }, index) => {
    const content = contents[index];
    if (content?.size !== size)
      throw new Error(`of the ${size} bytes of a file, ${content?.size} have been kept`);
    const value = { path, contentId: content.contentId, executable: false, modifiedAt: undefined };
    return { kind: { $case: 'putFile', value } };
  });
}

async function readDirectory({ name, fileName, content }: Part): Promise<string> {
  if (name !== 'path') throw refuseField('/path', 'is required, as the first part');
  if (fileName !== undefined) throw refuseField('/path', 'must be a text and not a file');
  const read: Buffer[] = [];
  let length = 0;
  for await (const bytes of content) {
    length += bytes.length;
    if (length > MAX_PATH_BYTES) throw refuseField('/path', `must have at most ${MAX_PATH_BYTES} bytes`);
    read.push(bytes);
  }
  return checkDirectoryPath(decode(Buffer.concat(read)));
}

function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw refuseField('/path', 'is not UTF-8');
  }
}

function targetOf({ name, fileName }: Part, directory: string, taken: Set<string>): string {
  if (name === 'path') throw refuseField('/path', 'must be given once, as the first part');
  if (name !== 'files')
    throw malformed(`a part is named ${JSON.stringify(name.slice(0, 100))}, and not "files"`);
  const pointer = `/files/${taken.size}`;
  if (taken.size === MAX_FILES) throw refuseField('/files', `must be at most ${MAX_FILES}`);
  if (!fileName) throw refuseField(pointer, 'has no file name');
  const path = checkFilePath(
    directory === '' ? fileName : `${directory}/${checkFilePath(fileName, pointer)}`,
    pointer,
  );
  if (taken.has(path)) throw refuseField(pointer, `has the path of another one: ${JSON.stringify(path)}`);
  taken.add(path);
  return path;
}
