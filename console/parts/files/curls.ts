import { fileRoute, MOST_AT_ONCE, type Place } from '../../api/files.ts';
import type { FileEntry } from '../../gen/index.ts';
import { type CurlOptions, shellWord } from '../curl/curl.ts';
import { folderOf, nameOf } from './paths.ts';

const withLines = (curl: string, ...lines: string[]) => [curl, ...lines].join(' \\\n  ');

/** What can be done with something, as lines for a shell. */
export function curlsOf(
  place: Place,
  { path, kind }: Pick<FileEntry, 'path' | 'kind'>,
  curlOf: (request: CurlOptions) => string,
): { text: string; curl: string }[] {
  const isFolder = kind === 'directory';
  const folder = isFolder ? path : folderOf(path);
  const list = curlOf({ path: fileRoute(place, '', folder || undefined) });
  const send = curlOf({ path: fileRoute(place) });
  const curls = [
    { text: 'List the folder', curl: list },
    {
      text: 'Upload into the folder',
      curl: withLines(send, `--form-string ${shellWord(`path=${folder}`)}`, "-F 'files=@report.pdf'"),
    },
  ];
  if (kind === 'symlink') return curls;
  const download = curlOf({
    path: isFolder ? fileRoute(place, '/archive', path || undefined) : fileRoute(place, '/content', path),
  });
  const output = isFolder ? `${nameOf(path) || place.id}.tar` : nameOf(path);
  return [{ text: 'Download', curl: withLines(download, `-o ${shellWord(`./${output}`)}`) }, ...curls];
}

/** A file that is too long for one answer, part after part; it fails when the file changes meanwhile. */
export function partsCurl(
  place: Place,
  { path, size, sha256 }: Pick<FileEntry, 'path' | 'size' | 'sha256'>,
  curlOf: (request: CurlOptions) => string,
): string {
  const last = Math.ceil(size / MOST_AT_ONCE) - 1;
  const curl = withLines(
    curlOf({ path: fileRoute(place, '/content', path) }),
    `--fail -H 'If-Match: "${sha256}"'`,
    `-r "$((part * ${MOST_AT_ONCE}))-$((part * ${MOST_AT_ONCE} + ${MOST_AT_ONCE - 1}))" || break`,
  );
  return `for part in $(seq 0 ${last}); do\n  ${curl}\ndone > ${shellWord(`./${nameOf(path)}`)}`;
}
