import { RevealOnce } from '../../parts/acts/reveal-once.tsx';
import { curlOf } from '../../parts/curl/curl.ts';
import { Code } from '../../ui/code.tsx';

/** The value of a token, and how to use it. */
export function Reveal({ value, onDone }: { value: string; onDone: () => void }) {
  return (
    <RevealOnce
      noun="token"
      description="It is shown this one time, and nobody can read it here again."
      label="Token"
      value={value}
      onDone={onDone}
    >
      <Code text={curlOf({ path: '/agents', isTeam: true })} label="How to use it" />
    </RevealOnce>
  );
}
