import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { loadChunk } from '../../parts/navigation/load-chunk.ts';
import { readTextSearch } from '../../parts/navigation/search-params.ts';
import { under } from './root.ts';

const loadVaultPages = () => loadChunk(() => import('../../pages/vaults/pages.ts'));
const vaults = createRoute({
  getParentRoute: under,
  path: '/vaults',
  validateSearch: readTextSearch,
  component: lazyRouteComponent(loadVaultPages, 'VaultsPage'),
});

const newVault = createRoute({
  getParentRoute: under,
  path: '/vaults/new',
  component: lazyRouteComponent(loadVaultPages, 'NewVaultPage'),
});

const vault = createRoute({
  getParentRoute: under,
  path: '/vaults/$vaultId',
  component: lazyRouteComponent(loadVaultPages, 'VaultPage'),
});

export const vaultsRoutes = [vaults, newVault, vault] as const;
