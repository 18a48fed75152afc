import { createHash } from 'node:crypto';
import type { Client } from '../../../lib/grpc/contract.ts';
import type { Endpoint } from '../../../lib/grpc/transport.ts';
import type { ServiceContext } from '../../../lib/service.ts';
import { FilesServiceDefinition, type Workspace } from '../../../proto/gen/ahs/files/v1/files.ts';
import type { Attachment } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { fakeEndpoint, fakeService } from '../../support/fake-service.ts';

/** A files service that counts what is written and keeps nothing, because long sessions write many large files. */
export interface LongFiles {
  endpoint: Endpoint;
  ofSessions: Client<FilesServiceDefinition>;
  /** Number of files that compactions have written, with repetitions. */
  written: number;
  /** The paths of the written files. */
  paths: Set<string>;
  /** An image part of a message, and its bytes. */
  imagePart: object;
  attachment: Attachment;
}

const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(2_000)]);
const MEDIA_TYPE = 'image/png';

export function createLongFiles(context: ServiceContext): LongFiles {
  const digest = createHash('sha256').update(PNG).digest('hex');
  const part = { sha256: digest, size: PNG.length, mediaType: MEDIA_TYPE, name: '' };
  const workspace: Workspace = {
    ...{ workspaceId: 'wsp_1', version: 1, oldestVersion: 0, files: 0, bytes: 0, lastSeq: 0 },
    ...{ maxFiles: 1_000_000, maxBytes: 2 ** 40, updatedAt: undefined },
  };
  const files: LongFiles = {
    written: 0,
    paths: new Set(),
    imagePart: { type: 'image', media_type: MEDIA_TYPE },
    attachment: { source: { $case: 'data', value: PNG } },
    ofSessions: fakeService(
      FilesServiceDefinition,
      { storeParts: async ({ parts }) => ({ parts: parts.map(() => part) }) },
      'sessions',
      context,
    ),
    endpoint: fakeEndpoint(
      FilesServiceDefinition,
      {
        async writeContents(messages) {
          const sizes: number[] = [];
          for await (const { kind } of messages)
            if (kind?.$case === 'begin') sizes.push(kind.value.size ?? 0);
          const contents = sizes.map((size, index) => ({ contentId: `cnt_${index}`, size, sha256: '' }));
          return { contents };
        },
        async changeWorkspace({ changes }) {
          for (const { kind } of changes) {
            if (kind?.$case !== 'putFile') continue;
            files.written++;
            files.paths.add(kind.value.path);
          }
          return { workspace, entries: [], conflicts: [], replayed: false };
        },
        async *readPart() {
          yield { part: undefined, bytes: PNG };
        },
      },
      'runner',
      context,
    ),
  };
  return files;
}
