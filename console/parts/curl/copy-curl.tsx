import { CopyButton } from '../../ui/copy.tsx';
import { useViewer } from '../people/viewer.ts';
import { type CurlOptions, curlOf } from './curl.ts';

/** Copies what a page or a button does, as a line for a shell. */
export function CopyCurl({ label = 'Copy as curl', ...request }: CurlOptions & { label?: string }) {
  const { isTeam } = useViewer();
  return <CopyButton text={() => curlOf({ isTeam, ...request })}>{label}</CopyButton>;
}
