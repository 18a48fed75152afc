import { useNavigate } from '@tanstack/react-router';
import { Ban, Copy, Ellipsis, Power, Replace, Terminal, Trash2 } from 'lucide-react';
import type { Deployment } from '../../gen/index.ts';
import { useCurl } from '../../parts/curl/use-curl.ts';
import { IconButton } from '../../ui/button.tsx';
import { Menu, MenuItem } from '../../ui/menu.tsx';
import { copyText } from '../../ui/toast.tsx';
import type { DeploymentActions } from './actions.tsx';
import { requests } from './requests.ts';
import { deploymentTitle } from './status.tsx';

export interface RowMenuProps {
  deployment: Deployment;
  actions: Pick<DeploymentActions, 'enable' | 'confirm'>;
}

/** Menu with the actions of a deployment in a list. */
export function RowMenu({ deployment, actions: { enable, confirm } }: RowMenuProps) {
  const navigate = useNavigate();
  const curlOf = useCurl();
  const { agent_id: agent, deployment_id: replaces, status } = deployment;
  const label = `Actions for ${deploymentTitle(deployment)}, ${replaces}`;
  return (
    <Menu trigger={<IconButton label={label} icon={<Ellipsis />} />}>
      {status === 'enabled' ? (
        <MenuItem icon={<Ban />} onSelect={() => confirm({ kind: 'disable', deployment })}>
          Disable
        </MenuItem>
      ) : (
        <MenuItem icon={<Power />} onSelect={() => enable(deployment)}>
          Enable
        </MenuItem>
      )}
      {deployment.type === 'webhook' && (
        <MenuItem
          icon={<Replace />}
          onSelect={() => void navigate({ to: '/deployments/new', search: { agent, replaces } })}
        >
          Replace
        </MenuItem>
      )}
      {deployment.type === 'webhook' && (
        <MenuItem icon={<Copy />} onSelect={() => void copyText(deployment.trigger_url)}>
          Copy URL
        </MenuItem>
      )}
      {status === 'disabled' && (
        <MenuItem icon={<Terminal />} onSelect={() => void copyText(curlOf(requests.enable(deployment)))}>
          Copy “Enable” as curl
        </MenuItem>
      )}
      <MenuItem icon={<Trash2 />} danger onSelect={() => confirm({ kind: 'delete', deployment })}>
        Delete
      </MenuItem>
    </Menu>
  );
}
