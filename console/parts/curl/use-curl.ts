import { useViewer } from '../people/viewer.ts';
import { type CurlOptions, curlOf } from './curl.ts';

/** Writes requests as lines for a shell, with a token where people log in. */
export function useCurl(): (request: CurlOptions) => string {
  const { isTeam } = useViewer();
  return (request) => curlOf({ ...request, isTeam });
}
