"""Nova's own fake driver, made to take its time, to tell how far it is, and to fail, as orders.json in the host's state_path
says, and before it the server's own orders; README.md has the orders. They are read again at every step."""
import json
import os
import time

import nova.conf
from nova import exception
from nova.virt import fake
from oslo_log import log

CONF = nova.conf.CONF
LOG = log.getLogger(__name__)
STEP = 0.5  # seconds between two looks at a live migration; libvirt's driver looks as often
MIB = 1 << 20


def read(*path):
    try:
        with open(os.path.join(CONF.state_path, *path)) as f:
            return json.load(f)
    except (OSError, ValueError):  # there is none, or it is just being written
        return {}


def orders(instance):
    """The orders of the host that are for the instance, and the instance's own."""
    host = read('orders.json')
    if instance.display_name not in host.get('only', [instance.display_name]):
        host = {name: value for name, value in host.items() if not name.startswith('fail_')}
    return {**host, **read('..', 'orders', instance.display_name + '.json')}


class SteerableDriver(fake.FakeLiveMigrateDriver):
    def __init__(self, virtapi, read_only=False):
        super().__init__(virtapi, read_only)
        self._wishes = {}  # of instances in live migration: None, 'abort' or 'force'

    def pre_live_migration(self, context, instance, *args, **kwargs):  # on the target
        text = orders(instance).get('fail_prelive')
        if text:
            raise exception.NovaException(text)
        return super().pre_live_migration(context, instance, *args, **kwargs)

    def live_migration(self, context, instance, dest, post_method, recover_method, block_migration=False, migrate_data=None):
        self._wishes[instance.uuid] = None
        begun = time.monotonic()
        while True:
            now = orders(instance)
            done = min((time.monotonic() - begun) / max(now.get('live_seconds', 5), 0.1), now.get('live_to', 1))
            text = now.get('fail_live')
            if self._wishes[instance.uuid] or done >= 1 or text and done >= 0.5:
                break
            self._report(migrate_data.migration, now.get('live_memory_mib', 1024) * MIB, done)
            time.sleep(STEP)
        if self._wishes.pop(instance.uuid) == 'abort':
            recover_method(context, instance, dest, migrate_data, migration_status='cancelled')
        elif text:
            LOG.error('Live Migration failure: %s', text, instance=instance)
            recover_method(context, instance, dest, migrate_data)
        else:
            post_method(context, instance, dest, block_migration, migrate_data)

    @staticmethod
    def _report(migration, total, done):
        """Says in the migration's record what libvirt's driver says there."""
        migration.memory_total = total
        migration.memory_processed = int(total * done)
        migration.memory_remaining = total - migration.memory_processed
        migration.disk_total = migration.disk_processed = migration.disk_remaining = 0
        migration.save()

    def live_migration_force_complete(self, instance):
        self._wishes[instance.uuid] = 'force'

    def live_migration_abort(self, instance):
        self._wishes[instance.uuid] = 'abort'

    def migrate_disk_and_power_off(self, context, instance, *args, **kwargs):  # on the source
        now = orders(instance)
        time.sleep(now.get('cold_seconds', 0))
        text = now.get('fail_cold')
        if text:
            raise exception.InstanceFaultRollback(exception.NovaException(text))
        return super().migrate_disk_and_power_off(context, instance, *args, **kwargs)

    def finish_migration(self, context, migration, instance, *args, **kwargs):  # on the target
        text = orders(instance).get('fail_finish')
        if text:
            raise exception.NovaException(text)
        return super().finish_migration(context, migration, instance, *args, **kwargs)
