import { Trash2 } from 'lucide-react';
import type { ReactElement } from 'react';
import { Button } from '../../ui/button.tsx';
import { ActButton, type ActButtonProps } from './act-button.tsx';

export interface DeleteButtonProps extends Pick<ActButtonProps, 'run' | 'onDone' | 'children'> {
  /** What it is: agent, token. */
  noun: string;
  name: string;
  /** Below /api/v1. */
  path: string;
  /** Where there is no room for words. */
  button?: ReactElement<{ onClick?: () => void }>;
}

/** A button that deletes something once it is confirmed. Inside stands what that means. */
export function DeleteButton({ noun, name, path, button = <Words />, ...act }: DeleteButtonProps) {
  return (
    <ActButton
      {...act}
      button={button}
      title={`Delete ${name}?`}
      action={`Delete ${noun}`}
      curl={{ method: 'DELETE', path }}
      done={`The ${noun} is deleted.`}
    />
  );
}

function Words(props: { onClick?: () => void }) {
  return (
    <Button {...props}>
      <Trash2 aria-hidden />
      Delete
    </Button>
  );
}
