import { fileRoute, MAX_RANGE_BYTES, type WorkspaceRef } from '../../api/files.ts';
import type { FileEntry } from '../../gen/index.ts';
import type { CurlOptions } from '../curl/curl.ts';
import { shellWord } from '../curl/shell-word.ts';
import { folderOf, nameOf } from './paths.ts';

const withLines = (curl: string, ...lines: string[]) => [curl, ...lines].join(' \\\n  ');

/** Returns curl commands for the API requests of an entry. */
export function curlsOf(
  workspace: WorkspaceRef,
  { path, kind }: Pick<FileEntry, 'path' | 'kind'>,
  curlOf: (request: CurlOptions) => string,
): { text: string; curl: string }[] {
  const isFolder = kind === 'directory';
  const folder = isFolder ? path : folderOf(path);
  const list = curlOf({ path: fileRoute(workspace, '', folder || undefined) });
  const send = curlOf({ path: fileRoute(workspace) });
  const curls = [
    { text: 'List the folder', curl: list },
    {
      text: 'Upload to the folder',
      curl: withLines(send, `--form-string ${shellWord(`path=${folder}`)}`, "-F 'files=@report.pdf'"),
    },
  ];
  if (kind === 'symlink') return curls;
  const download = curlOf({
    path: isFolder
      ? fileRoute(workspace, '/archive', path || undefined)
      : fileRoute(workspace, '/content', path),
  });
  const output = isFolder ? `${nameOf(path) || workspace.id}.tar` : nameOf(path);
  return [{ text: 'Download', curl: withLines(download, `-o ${shellWord(`./${output}`)}`) }, ...curls];
}

/** Returns a shell loop that downloads a large file in ranges. It fails when the file changes during the download. */
export function partsCurl(
  workspace: WorkspaceRef,
  { path, size, sha256 }: Pick<FileEntry, 'path' | 'size' | 'sha256'>,
  curlOf: (request: CurlOptions) => string,
): string {
  const last = Math.ceil(size / MAX_RANGE_BYTES) - 1;
  const curl = withLines(
    curlOf({ path: fileRoute(workspace, '/content', path) }),
    `--fail -H 'If-Match: "${sha256}"'`,
    `-r "$((part * ${MAX_RANGE_BYTES}))-$((part * ${MAX_RANGE_BYTES} + ${MAX_RANGE_BYTES - 1}))" || break`,
  );
  return `for part in $(seq 0 ${last}); do\n  ${curl}\ndone > ${shellWord(`./${nameOf(path)}`)}`;
}
