"""Alembic's entry: SQL is only written here (offline mode); kilonova.storage.migrate runs it."""

from alembic import context

from kilonova.storage.tables import metadata

context.configure(
    dialect_name=context.config.get_main_option("dialect"),
    target_metadata=metadata,
    literal_binds=True,
    as_sql=True,
    transactional_ddl=False,
    output_buffer=context.config.output_buffer,
)
with context.begin_transaction():
    context.run_migrations()
