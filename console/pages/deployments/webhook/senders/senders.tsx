import { Code } from '../../../../ui/code.tsx';
import { Tabs } from '../../../../ui/tabs.tsx';
import type { SenderLanguage } from '../../search.ts';
import { curlSender } from './curl.ts';
import { goSender } from './go.ts';
import { nodeSender } from './node.ts';
import { pythonSender } from './python.ts';
import { SET_SECRET } from './quoting.ts';

const SENDERS: readonly { value: SenderLanguage; text: string; write: (url: string) => string }[] = [
  { value: 'curl', text: 'curl', write: curlSender },
  { value: 'node', text: 'Node', write: nodeSender },
  { value: 'python', text: 'Python', write: pythonSender },
  { value: 'go', text: 'Go', write: goSender },
];

export interface SenderExamplesProps {
  url: string;
  language: SenderLanguage;
  onChange: (language: SenderLanguage) => void;
}

/** Example programs that sign and send a request. They read the secret from an environment variable. */
export function SenderExamples({ url, language, onChange }: SenderExamplesProps) {
  const shown = SENDERS.find(({ value }) => value === language);
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <div>
        <p className="mb-1.5 text-muted">
          Run this command in the shell of the sender, paste the secret and press Enter. The secret is not
          displayed and not stored in the shell history.
        </p>
        <Code text={SET_SECRET} label="Set secret" />
      </div>
      <Tabs label="Sender" value={language} onChange={onChange} tabs={SENDERS}>
        {shown && <Code text={shown.write(url)} label={`Sender with ${shown.text}`} className="mt-3" />}
      </Tabs>
    </div>
  );
}
