import type { JSONValue } from '@ai-sdk/provider';
import { Refusal } from '../../../../lib/errors.ts';
import type { ToolCallResult } from '../../../../lib/mcp/open.ts';
import { MAX_PARTS } from '../../../../lib/part-limits.ts';
import { fileTypeOf } from '../../parts/file-type.ts';
import type { JournaledPart } from '../../parts/reference.ts';
import { type ToolCallContext, ToolOutput } from '../../tool-calls/tool-call.ts';
import { changeKey, type FilesClient, WorkspaceClient } from '../../workspace/workspace-client.ts';
import { cutText, readResult } from './result.ts';

interface NewFile {
  path: string;
  bytes: Uint8Array;
}

const DIRECTORY = '.outputs';
const EXTENSIONS: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'audio/mpeg': 'mp3',
  'audio/wav': 'wav',
  'application/pdf': 'pdf',
};

/**
 * Converts the result of a server for the journal. Images and files are stored in the workspace under the lease of the turn
 * and become parts of the output; the whole of a text that is too long becomes a file, too. Repeating it for the same call
 * changes nothing. If they cannot be stored, the output is the text with a note, because the call has taken effect. Rejects
 * with LEASE_LOST.
 */
export async function storeResult(
  result: ToolCallResult,
  { server, notes }: { server: string; notes: readonly string[] },
  call: ToolCallContext,
  files: FilesClient,
): Promise<ToolOutput> {
  const { text, files: received } = readResult(result);
  const base = `${DIRECTORY}/${call.toolUseId.replace(/[^\w-]/g, '_').slice(0, 100)}`;
  const cut = cutText(text);
  const parts = received.slice(0, MAX_PARTS).map(({ data, mediaType }, index) => {
    const type = fileTypeOf(data, mediaType);
    return { ...type, bytes: data, path: `${base}-${index + 1}.${EXTENSIONS[type.mediaType] ?? 'bin'}` };
  });
  const whole = { path: `${base}.json`, bytes: Buffer.from(cut ? JSON.stringify(withoutBytes(result)) : '') };
  const facts = { isError: result.isError, mcpServer: server };
  const newFiles: NewFile[] = cut ? [...parts, whole] : parts;
  const textWith = (more: readonly string[]) =>
    [cut?.shown ?? text, ...notes, ...more].filter((line) => line !== '').join('\n');
  if (newFiles.length === 0) return new ToolOutput(textWith([]), facts);
  const omitted = received.length - parts.length;
  const lengthNote = cut ? [`[The output was cut: it has ${cut.bytes} bytes.]`] : [];
  try {
    const { version, contentIds } = await writeFiles(newFiles, call, files);
    const stored = await storeParts(parts, contentIds, call, files);
    const shown = textWith([
      ...lengthNote,
      ...(cut ? [`[The whole result is in ${whole.path}.]`] : []),
      ...parts.map(({ path, mediaType }) => `[${mediaType} in ${path}]`),
      ...(omitted > 0 ? [`[${omitted} more files were left out.]`] : []),
    ]);
    const output: JSONValue =
      stored.length === 0 ? shown : [{ type: 'text', text: shown }, ...stored.map((part) => ({ ...part }))];
    return new ToolOutput(output, { ...facts, workspaceVersion: version });
  } catch (error) {
    if (!(error instanceof Refusal) || error.code === 'LEASE_LOST') throw error;
    const note = `[The files of the result could not be stored: ${error.message}]`;
    return new ToolOutput(textWith([...lengthNote, note]), facts);
  }
}

/** Writes files into the workspace, over existing ones. */
async function writeFiles(newFiles: readonly NewFile[], call: ToolCallContext, files: FilesClient) {
  const client = new WorkspaceClient(files, call.turn, call.signal);
  const contents = await client.write(
    newFiles.map(({ bytes }) => ({ size: bytes.length, read: () => [bytes] })),
  );
  const contentIds = contents.map(({ contentId }) => contentId);
  const changes = newFiles.map(({ path }, index) => {
    const value = { path, contentId: contentIds[index] ?? '', executable: false, modifiedAt: undefined };
    return { kind: { $case: 'putFile' as const, value } };
  });
  const { workspace } = await client.change(changes, { key: changeKey(call) });
  return { version: workspace?.version, contentIds };
}

async function storeParts(
  parts: readonly { path: string; type: 'image' | 'file'; mediaType: string }[],
  contentIds: readonly string[],
  { turn, signal }: ToolCallContext,
  files: FilesClient,
): Promise<Omit<JournaledPart, 'providerOptions'>[]> {
  if (parts.length === 0) return [];
  const { lease, trace } = turn;
  const request = parts.map(({ type, mediaType, path }, index) => ({
    ...{ type, mediaType, name: path.slice(DIRECTORY.length + 1) },
    ...{ attachment: undefined, contentId: contentIds[index] },
  }));
  const { parts: stored } = await files.storeParts(
    { sessionId: lease.sessionId, ownerId: '', assistantId: '', parts: request, lease },
    { trace, signal },
  );
  return stored.map(({ sha256, size, mediaType, name }, index) => ({
    ...{ type: parts[index]?.type ?? 'file', media_type: mediaType, name, sha256, size },
  }));
}

/** The result without the bytes that are in files of their own. */
function withoutBytes({ content, structuredContent, isError }: ToolCallResult) {
  const omit = (member: string, value: unknown) =>
    (member === 'data' || member === 'blob') && typeof value === 'string' ? '…' : value;
  return { content: JSON.parse(JSON.stringify(content, omit)), structuredContent, isError };
}
