drop table graph_nodes;
