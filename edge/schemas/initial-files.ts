import { type Static, Type } from 'typebox';
import type { InitialFileList } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import { closed, text } from './common.ts';

/** Uploads that a new conversation puts into its workspace. */
export const InitialFiles = Type.Array(
  closed({
    path: text('The path in the workspace of the session.', { examples: ['data/input.csv'] }),
    upload_id: text('upl_…: an upload of the caller.'),
  }),
  {
    maxItems: 100,
    description:
      'Uploads that become files of the workspace before the first turn starts. The sessions of an assistant share its ' +
      'workspace, in which existing files are not replaced.',
  },
);

export function initialFiles(files: Static<typeof InitialFiles> | undefined): InitialFileList | undefined {
  if (!files || files.length === 0) return undefined;
  return { files: files.map(({ path, upload_id: uploadId }) => ({ path, uploadId })) };
}
