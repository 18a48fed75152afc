import { RevealOnce } from '../../parts/actions/reveal-once.tsx';
import { curlOf } from '../../parts/curl/curl.ts';
import { Code } from '../../ui/code.tsx';

/** Shows the value of a new token and an example request. */
export function RevealToken({ value, onDone }: { value: string; onDone: () => void }) {
  return (
    <RevealOnce
      noun="token"
      description="The token is shown only once and cannot be displayed again."
      label="Token"
      value={value}
      onDone={onDone}
    >
      <Code text={curlOf({ path: '/agents', isTeam: true })} label="Example request" />
    </RevealOnce>
  );
}
