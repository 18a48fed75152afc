import { Trash2 } from 'lucide-react';
import type { ReactElement } from 'react';
import { Button } from '../../ui/button.tsx';
import { ActionButton, type ActionButtonProps } from './action-button.tsx';

export interface DeleteButtonProps extends Pick<ActionButtonProps, 'run' | 'onDone' | 'children'> {
  /** Kind of the resource: agent, token. */
  noun: string;
  name: string;
  /** API path below /api/v1. */
  path: string;
  /** Replaces the default button, for example with an icon button. */
  button?: ReactElement<{ onClick?: () => void }>;
}

/** A button that deletes a resource after a confirmation. `children` describes the consequences. */
export function DeleteButton({
  noun,
  name,
  path,
  button = <DeleteLabelButton />,
  ...act
}: DeleteButtonProps) {
  return (
    <ActionButton
      {...act}
      button={button}
      title={`Delete ${name}?`}
      action={`Delete ${noun}`}
      curl={{ method: 'DELETE', path }}
      done={`The ${noun} was deleted.`}
    />
  );
}

function DeleteLabelButton(props: { onClick?: () => void }) {
  return (
    <Button {...props}>
      <Trash2 aria-hidden />
      Delete
    </Button>
  );
}
