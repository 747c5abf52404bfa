package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"mayfly/service"
)

// coordinatorConnections is the largest number of connections of a process to the coordinator of a
// Citus cluster, besides those to any of its servers.
const coordinatorConnections = 4

// connectCluster connects to the servers of a cluster instead of the one that was named.
func (s *Store) connectCluster(ctx context.Context, config *pgxpool.Config, nodes []node) error {
	s.citus = true
	config = config.Copy()
	// Citus 13.2 plans a statement again each time, and keeps all that it planned while the plan of the statement is kept.
	config.ConnConfig.RuntimeParams["plan_cache_mode"] = "force_custom_plan"
	config.ConnConfig.RuntimeParams["citus.propagate_set_commands"] = "local" // SET LOCAL holds on all servers
	coordinator, err := at(config, nodes[0])
	if err != nil {
		return err
	}
	toAny, err := at(config, nodes...)
	if err != nil {
		return err
	}
	coordinator.MaxConns = coordinatorConnections
	toAny.BeforeConnect = spread
	s.coordinator.Close()
	if s.coordinator, err = pgxpool.NewWithConfig(ctx, coordinator); err != nil {
		return err
	}
	s.pool, err = pgxpool.NewWithConfig(ctx, toAny)
	return err
}

// node is where a server of a Citus cluster listens.
type node struct {
	Host string
	Port int32
}

// clusterNodes returns the servers of the database's Citus cluster, the coordinator first, or nil if
// the database has no Citus.
func clusterNodes(ctx context.Context, pool *pgxpool.Pool) ([]node, error) {
	var citus, known, shards bool
	if err := pool.QueryRow(ctx, "SELECT to_regclass('pg_dist_node') IS NOT NULL").Scan(&citus); err != nil || !citus {
		return nil, err
	}
	const primaries = "FROM pg_dist_node WHERE noderole = 'primary' AND isactive"
	err := pool.QueryRow(ctx, "SELECT coalesce(bool_or(groupid = 0), false), coalesce(bool_or(shouldhaveshards), false) "+primaries).Scan(&known, &shards)
	switch {
	case err != nil:
		return nil, err
	case !known:
		return nil, errors.New("its Citus cluster knows no coordinator: run there SELECT citus_set_coordinator_host('its name')")
	case !shards:
		return nil, errors.New("its Citus cluster has no workers: run SELECT citus_add_node('a worker', 5432) on the coordinator")
	}
	return query(ctx, pool, pgx.RowToStructByPos[node], "SELECT nodename, nodeport "+primaries+" ORDER BY groupid")
}

// spread lets each connection begin with another of the nodes, and leaves time to try others if it
// does not answer.
func spread(_ context.Context, c *pgx.ConnConfig) error {
	list := endpoints(c)
	first := rand.IntN(len(list))
	for first > 0 && list[first].Host == list[first-1].Host && list[first].Port == list[first-1].Port {
		first-- // a node can be there with TLS and then without
	}
	connectTo(c, slices.Concat(list[first:], list[:first]))
	c.ConnectTimeout /= time.Duration(min(len(list), 3))
	return nil
}

// endpoints returns what a connection tries, in order.
func endpoints(c *pgx.ConnConfig) []*pgconn.FallbackConfig {
	return append([]*pgconn.FallbackConfig{{Host: c.Host, Port: c.Port, TLSConfig: c.TLSConfig}}, c.Fallbacks...)
}

func connectTo(c *pgx.ConnConfig, list []*pgconn.FallbackConfig) {
	c.Host, c.Port, c.TLSConfig, c.Fallbacks = list[0].Host, list[0].Port, list[0].TLSConfig, list[1:]
}

// at returns a configuration for connections to nodes, tried in order, which are like those of config.
func at(config *pgxpool.Config, nodes ...node) (*pgxpool.Config, error) {
	var hosts, ports []string
	for _, n := range nodes {
		hosts, ports = append(hosts, n.Host), append(ports, fmt.Sprint(n.Port))
	}
	from := config.ConnString()
	more := "?"
	if strings.Contains(from, "?") {
		more = "&" // the last parameter counts
	}
	// Parsed again, since client certificates are known by the TLS configurations that are made for them.
	to, err := pgxpool.ParseConfig(from + more + "host=" + url.QueryEscape(strings.Join(hosts, ",")) + "&port=" + strings.Join(ports, ","))
	if err != nil {
		return nil, err
	}
	c, like := to.ConnConfig, config.ConnConfig
	c.ConnectTimeout, c.RuntimeParams, c.Tracer = like.ConnectTimeout, like.RuntimeParams, like.Tracer
	to.MaxConns, to.MinConns, to.AfterConnect = config.MaxConns, 0, config.AfterConnect
	return to, nil
}

// placement is where the rows of a key are, or of the owner of an address, which is distributed like
// a key of that name.
type placement struct {
	name string
	node node
}

// placementsTTL is after how long a process notices that keys have moved to another server. Until
// then the previous one passes on what is for them.
const placementsTTL = time.Minute

// serverOf returns the server of a key or an address.
func (s *Store) serverOf(ctx context.Context, name string) (*server, error) {
	if !s.citus || !isName(name) {
		return s.anyServer, nil
	}
	if v, ok := s.servers.get(name); ok {
		return v, nil
	}
	p, err := s.placements.get(ctx, name)
	if err != nil {
		return nil, err
	}
	v, err := s.serverAt(p.node)
	if err == nil {
		s.servers.put(name, v)
	}
	return v, err
}

func (s *Store) serverAt(n node) (*server, error) {
	s.opening.Lock()
	defer s.opening.Unlock()
	if v := s.opened[n]; v != nil {
		return v, nil
	}
	if s.ctx.Err() != nil {
		return nil, service.ErrClosed
	}
	config, err := at(s.anyServer.pool.Config(), n)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(s.ctx, config)
	if err != nil {
		return nil, err
	}
	v := s.newServer(pool)
	s.opened[n] = v
	return v, nil
}

func (s *Store) readPlacements(ctx context.Context, pool *pgxpool.Pool, names []string) ([]placement, error) {
	scan := func(row pgx.CollectableRow) (p placement, err error) {
		err = row.Scan(&p.name, &p.node.Host, &p.node.Port)
		return p, err
	}
	return query(ctx, pool, scan, `SELECT name, n.nodename, n.nodeport
		FROM (SELECT name, get_shard_id_for_distribution_column('owners', name) AS shardid FROM unnest($1::text[]) name) s
		JOIN pg_dist_placement p USING (shardid) JOIN pg_dist_node n USING (groupid) WHERE n.noderole = 'primary'`, names)
}
