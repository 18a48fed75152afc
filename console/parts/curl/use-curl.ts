import { useViewer } from '../users/viewer.ts';
import { type CurlOptions, curlOf } from './curl.ts';

/** Formats requests as curl commands, with an Authorization header in team mode. */
export function useCurl(): (request: CurlOptions) => string {
  const { isTeam } = useViewer();
  return (request) => curlOf({ ...request, isTeam });
}
