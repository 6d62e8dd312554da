//! A DataFusion session with the tables and views of a data set.

use std::path::PathBuf;
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use tokio::runtime::Runtime;

use super::views::{VIEWS, sql_name};
use crate::data_set::{DataSet, arrow_schema, arrow_type};
use crate::error::FleetError;
use crate::schema::{PARTITION, TABLES};

/// How queries run.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// Bytes of memory for queries; what needs more goes to temporary files, or fails.
    pub memory: usize,
    /// Parts of a query that run at once.
    pub jobs: usize,
    /// Directory of temporary files; `None`: that of the system.
    pub temporary: Option<PathBuf>,
}

/// The result of a query.
pub struct Answer {
    /// Its columns.
    pub schema: SchemaRef,
    /// Its rows.
    pub batches: Vec<RecordBatch>,
}

/// Gets the columns of a query, then batches of its rows.
pub type TakeRows<'t> = &'t mut dyn FnMut(&SchemaRef, Option<&RecordBatch>) -> Result<(), FleetError>;

/// Runs SQL on a data set.
pub struct Engine {
    context: SessionContext,
    runtime: Runtime,
}

impl Engine {
    /// Opens the tables and views of a data set.
    ///
    /// # Errors
    /// The data set cannot be read.
    pub fn open(data_set: &DataSet, options: &EngineOptions) -> Result<Engine, FleetError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(options.jobs.max(1))
            .enable_all()
            .build()
            .map_err(FleetError::System)?;
        let mut config = SessionConfig::new().with_target_partitions(options.jobs.max(1));
        config.options_mut().execution.parquet.pushdown_filters = true;
        let mut environment =
            RuntimeEnvBuilder::new().with_memory_pool(Arc::new(FairSpillPool::new(options.memory)));
        if let Some(dir) = &options.temporary {
            environment = environment.with_temp_file_path(dir);
        }
        let context = SessionContext::new_with_config_rt(config, environment.build_arc()?);
        let engine = Engine { context, runtime };
        engine.runtime.block_on(engine.add_tables(data_set))?;
        Ok(engine)
    }

    async fn add_tables(&self, data_set: &DataSet) -> Result<(), FleetError> {
        for row in &TABLES {
            let dir = std::path::absolute(data_set.dir().join(row.name)).map_err(FleetError::System)?;
            let url = ListingTableUrl::parse(format!("{}/", dir.display()))?;
            let partition = PARTITION.map(|(name, kind)| (name.to_owned(), arrow_type(kind)));
            let options = ListingOptions::new(Arc::new(ParquetFormat::default()))
                .with_file_extension(".parquet")
                .with_table_partition_cols(partition.to_vec());
            let config =
                ListingTableConfig::new(url).with_listing_options(options).with_schema(arrow_schema(row));
            self.context.register_table(sql_name(row.name), Arc::new(ListingTable::try_new(config)?))?;
        }
        for view in &VIEWS {
            let made = format!("CREATE VIEW {} AS {}", view.name, view.sql);
            self.context.sql(&made).await?.collect().await?;
        }
        Ok(())
    }

    /// Runs a query and holds its rows.
    ///
    /// # Errors
    /// The query is wrong, or needs more than it may have.
    pub fn query(&self, sql: &str) -> Result<Answer, FleetError> {
        self.runtime.block_on(async {
            let frame = self.context.sql(sql).await?;
            let schema = Arc::new(frame.schema().as_arrow().clone());
            Ok(Answer { schema, batches: frame.collect().await? })
        })
    }

    /// Runs a query and gives its rows to `take`, a batch after another.
    ///
    /// # Errors
    /// The query is wrong, needs more than it may have, or `take` fails.
    pub fn stream(&self, sql: &str, take: TakeRows<'_>) -> Result<(), FleetError> {
        use futures::TryStreamExt;
        self.runtime.block_on(async {
            let frame = self.context.sql(sql).await?;
            let schema: SchemaRef = Arc::new(frame.schema().as_arrow().clone());
            let mut rows = frame.execute_stream().await?;
            take(&schema, None)?;
            while let Some(batch) = rows.try_next().await? {
                take(&schema, Some(&batch))?;
            }
            Ok(())
        })
    }
}
