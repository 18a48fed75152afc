import { Power, PowerOff } from 'lucide-react';
import { Button } from '../../ui/button.tsx';
import { ActionButton } from './action-button.tsx';

export interface ToggleResourceProps {
  /** Kind of the resource: environment, vault. */
  noun: string;
  name: string;
  resource: { enabled: boolean; revision: number };
  /** API path below /api/v1. */
  path: string;
  run: (change: { enabled: boolean }) => Promise<unknown>;
  onDone: () => unknown;
  consequences: { disable: string; enable: string };
}

/** A button that enables or disables a resource after a confirmation. */
export function ToggleResource({
  noun,
  name,
  resource: { enabled, revision },
  path,
  run,
  onDone,
  consequences,
}: ToggleResourceProps) {
  const verb = enabled ? 'disable' : 'enable';
  const word = enabled ? 'Disable' : 'Enable';
  const change = { enabled: !enabled };
  return (
    <ActionButton
      button={
        <Button>
          {enabled ? <PowerOff aria-hidden /> : <Power aria-hidden />}
          {word}
        </Button>
      }
      title={`${word} ${name}?`}
      action={`${word} ${noun}`}
      isMild={!enabled}
      run={() => run(change)}
      curl={{ method: 'PATCH', path, revision, body: change }}
      done={`The ${noun} was ${verb}d.`}
      onDone={onDone}
    >
      <p>{consequences[verb]}</p>
    </ActionButton>
  );
}
