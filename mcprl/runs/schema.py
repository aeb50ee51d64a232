"""The tables of a journal, their version, and the statements that bring an older file to it."""

from typing import Final

VERSION: Final = 5

TABLES: Final = """
create table fact (key text primary key, value text not null);
create table event (at real not null, kind text not null, data text not null);
create table scenario (id text primary key, split text not null, body text not null);
create table trajectory (
    phase text not null, step integer not null, id text not null, scenario_id text not null, stop text not null,
    at real not null, body text not null, tokens blob not null, fate text, gaps blob,
    given_calls integer not null default 0,
    primary key (phase, step, id));
create table score (
    phase text not null, step integer not null, trajectory_id text not null, value real not null, success integer,
    explanation text not null, primary key (phase, step, trajectory_id),
    foreign key (phase, step, trajectory_id) references trajectory (phase, step, id));
create table step (step integer primary key, at real not null, metrics text not null);
create table adapter (
    at real not null, kind text not null, step integer not null, path text not null, digest text not null default '');
create table attempt (
    bench text not null, model text not null, step integer not null, task text not null, at real not null,
    passed text not null, body text not null, primary key (bench, model, step, task));
"""

MIGRATIONS: Final = {
    # What became of each trajectory, and the digest of each adapter's files: neither is known of older ones.
    1: """
    alter table trajectory add column fate text;
    update trajectory set fate = 'unknown' where phase = 'train' and step <= (select max(step) from step);
    alter table adapter add column digest text not null default ''
    """,
    # Attempts at the tasks of benchmarks made by others.
    2: """
    create table attempt (
        bench text not null, model text not null, step integer not null, task text not null, at real not null,
        passed text not null, body text not null, primary key (bench, model, step, task))
    """,
    # How far the trainer was from the sampler at each token: not known of older trajectories.
    3: "alter table trajectory add column gaps blob",
    # Calls that were made for the policy: there were none.
    4: "alter table trajectory add column given_calls integer not null default 0",
}
"""By version, the statements that make the next version of such a file."""
